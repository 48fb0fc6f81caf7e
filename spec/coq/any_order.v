(* How far any order of additions can be off: rule N-14 of spec/semantics.md. *)
From Coq Require Import ZArith Reals List Permutation Sorted Lia Lra.
From Flocq Require Import Core Plus_error Relative.
From Alar Require Import lists.
Import ListNotations.
Open Scope R_scope.

(* ---- orders of additions ---- *)

Inductive tree := Leaf (x : R) | Node (l r : tree).

Fixpoint leaves (t : tree) : list R :=
  match t with Leaf x => [x] | Node l r => leaves l ++ leaves r end.

Fixpoint height (t : tree) : nat :=
  match t with Leaf _ => 0%nat | Node l r => S (Nat.max (height l) (height r)) end.

Definition size (t : tree) : nat := length (leaves t).

Lemma size_pos : forall t, (1 <= size t)%nat.
Proof. unfold size; induction t; simpl; [|rewrite app_length]; lia. Qed.

Lemma size_node : forall l r, size (Node l r) = (size l + size r)%nat.
Proof. intros; unfold size; simpl; apply app_length. Qed.

Section Additions.

Variables emin prec : Z.
Context {prec_gt_0_ : Prec_gt_0 prec}.
Variable choice : Z -> bool. (* which way a tie goes: to even, away, ... *)

Notation fexp := (FLT_exp emin prec).
Notation format := (generic_format radix2 fexp).
Notation rnd := (round radix2 fexp (Znearest choice)).

Definition u : R := bpow radix2 (- prec).

(* The value of an order of additions: each of them rounds to nearest. *)
Fixpoint eval (t : tree) : R :=
  match t with Leaf x => x | Node l r => rnd (eval l + eval r) end.

Definition held (t : tree) : Prop := Forall format (leaves t).

Lemma held_node : forall l r, held (Node l r) -> held l /\ held r.
Proof. unfold held; simpl; intros; apply Forall_app; trivial. Qed.

Lemma eval_format : forall t, held t -> format (eval t).
Proof.
  destruct t; simpl; intros H; [inversion H; trivial | apply generic_format_round; auto with typeclass_instances].
Qed.

Lemma u_pos : 0 < u.
Proof. apply bpow_gt_0. Qed.

Lemma u_is_u_ro : u_ro radix2 prec = u.
Proof. unfold u_ro, u; rewrite bpow_plus; simpl; lra. Qed.

(* One addition is off by a factor of 1 + e, |e| <= u: sums are never hurt by underflow. *)
Lemma plus_relative : forall x y, format x -> format y -> Rabs (rnd (x + y) - (x + y)) <= u * Rabs (x + y).
Proof.
  intros x y Hx Hy.
  destruct (FLT_plus_error_N_ex radix2 emin prec choice x y Hx Hy) as [e [He ->]].
  replace ((x + y) * (1 + e) - (x + y)) with (e * (x + y)) by ring.
  rewrite Rabs_mult; apply Rmult_le_compat_r; [apply Rabs_pos|].
  rewrite u_is_u_ro in He; pose proof u_pos.
  eapply Rle_trans; [exact He|].
  apply Rmult_le_reg_r with (1 + u); [lra|].
  unfold Rdiv; rewrite Rmult_assoc, Rinv_l by lra; nra.
Qed.

(* ---- N-14: by height ---- *)

Lemma by_height_step : forall a b s1 s2 y A1 A2 h1 h2 h : R,
  Rabs (a - s1) <= h1 * A1 -> Rabs (b - s2) <= h2 * A2 -> h1 <= h -> h2 <= h ->
  Rabs s1 <= A1 -> Rabs s2 <= A2 -> Rabs (y - (a + b)) <= u * Rabs (a + b) ->
  Rabs (y - (s1 + s2)) <= ((1 + u) * (1 + h) - 1) * (A1 + A2).
Proof.
  intros a b s1 s2 y A1 A2 h1 h2 h Ha Hb H1 H2 HA1 HA2 Hy.
  pose proof u_pos; pose proof (Rabs_pos s1); pose proof (Rabs_pos s2).
  assert (E : Rabs ((a + b) - (s1 + s2)) <= h * (A1 + A2)).
  { replace (a + b - (s1 + s2)) with ((a - s1) + (b - s2)) by ring.
    eapply Rle_trans; [apply Rabs_triang | nra]. }
  assert (S : Rabs (s1 + s2) <= A1 + A2) by (eapply Rle_trans; [apply Rabs_triang | lra]).
  assert (T : Rabs (a + b) <= (1 + h) * (A1 + A2)).
  { replace (a + b) with (((a + b) - (s1 + s2)) + (s1 + s2)) by ring.
    eapply Rle_trans; [apply Rabs_triang | lra]. }
  replace (y - (s1 + s2)) with ((y - (a + b)) + ((a + b) - (s1 + s2))) by ring.
  eapply Rle_trans; [apply Rabs_triang | nra].
Qed.

Theorem by_height : forall t, held t ->
  Rabs (eval t - sum (leaves t)) <= ((1 + u) ^ height t - 1) * mass (leaves t).
Proof.
  pose proof u_pos as U.
  induction t as [x|l IHl r IHr]; intros H.
  - simpl; replace (x - (x + 0)) with 0 by ring; rewrite Rabs_R0; lra.
  - destruct (held_node _ _ H) as [Hl Hr].
    specialize (IHl Hl); specialize (IHr Hr).
    simpl leaves; rewrite sum_app, mass_app; simpl eval; simpl height.
    set (h := Nat.max (height l) (height r)).
    replace ((1 + u) ^ S h - 1) with ((1 + u) * (1 + ((1 + u) ^ h - 1)) - 1) by (simpl; ring).
    eapply by_height_step; [exact IHl | exact IHr | | | apply sum_le_mass | apply sum_le_mass |].
    + apply Rplus_le_compat_r, Rle_pow; [lra | unfold h; lia].
    + apply Rplus_le_compat_r, Rle_pow; [lra | unfold h; lia].
    + apply plus_relative; apply eval_format; trivial.
Qed.

(* ---- N-14: (n - 1) u A, whatever the order, however many ---- *)

Lemma by_count_step : forall a b s1 s2 y A1 A2 n1 n2 : R,
  1 <= n1 -> 1 <= n2 -> 0 <= A1 -> 0 <= A2 ->
  Rabs (a - s1) <= (n1 - 1) * u * A1 -> Rabs (b - s2) <= (n2 - 1) * u * A2 ->
  Rabs s1 <= A1 -> Rabs s2 <= A2 ->
  Rabs (y - (a + b)) <= u * Rabs (a + b) -> Rabs (y - (a + b)) <= Rabs a -> Rabs (y - (a + b)) <= Rabs b ->
  u <= 1 ->
  Rabs (y - (s1 + s2)) <= (n1 + n2 - 1) * u * (A1 + A2).
Proof.
  intros a b s1 s2 y A1 A2 n1 n2 N1 N2 P1 P2 Ha Hb S1 S2 Hy Hya Hyb U1.
  pose proof u_pos as U.
  assert (Ta : Rabs a <= A1 + (n1 - 1) * u * A1).
  { replace a with (s1 + (a - s1)) by ring. eapply Rle_trans; [apply Rabs_triang | lra]. }
  assert (Tb : Rabs b <= A2 + (n2 - 1) * u * A2).
  { replace b with (s2 + (b - s2)) by ring. eapply Rle_trans; [apply Rabs_triang | lra]. }
  assert (Tab : Rabs (a + b) <= Rabs a + Rabs b) by apply Rabs_triang.
  assert (D : Rabs (y - (a + b)) <= u * (n2 * A1 + n1 * A2)).
  { destruct (Rle_or_lt A2 (u * A1)) as [C|C].
    - eapply Rle_trans; [exact Hyb|]; eapply Rle_trans; [exact Tb|].
      assert (A2 <= A1) by nra.
      assert (0 <= (n2 - 1) * u) by nra.
      assert ((n2 - 1) * u * A2 <= (n2 - 1) * u * A1) by (apply Rmult_le_compat_l; lra).
      assert (0 <= u * (n1 * A2)) by (apply Rmult_le_pos; nra).
      nra.
    - destruct (Rle_or_lt A1 (u * A2)) as [C'|C'].
      + eapply Rle_trans; [exact Hya|]; eapply Rle_trans; [exact Ta|].
        assert (A1 <= A2) by nra.
        assert (0 <= (n1 - 1) * u) by nra.
        assert ((n1 - 1) * u * A1 <= (n1 - 1) * u * A2) by (apply Rmult_le_compat_l; lra).
        assert (0 <= u * (n2 * A1)) by (apply Rmult_le_pos; nra).
        nra.
      + eapply Rle_trans; [exact Hy|]; apply Rmult_le_compat_l; [lra|].
        assert ((n1 - 1) * (u * A1) <= (n1 - 1) * A2) by (apply Rmult_le_compat_l; lra).
        assert ((n2 - 1) * (u * A2) <= (n2 - 1) * A1) by (apply Rmult_le_compat_l; lra).
        nra. }
  replace (y - (s1 + s2)) with ((y - (a + b)) + ((a - s1) + (b - s2))) by ring.
  eapply Rle_trans; [apply Rabs_triang|].
  eapply Rle_trans; [apply Rplus_le_compat_l, Rabs_triang|].
  nra.
Qed.

Lemma u_le_1 : u <= 1.
Proof.
  unfold u; change 1 with (bpow radix2 0); apply bpow_le.
  unfold Prec_gt_0 in prec_gt_0_; lia.
Qed.

Theorem by_count : forall t, held t ->
  Rabs (eval t - sum (leaves t)) <= (INR (size t) - 1) * u * mass (leaves t).
Proof.
  induction t as [x|l IHl r IHr]; intros H.
  - simpl; replace (x - (x + 0)) with 0 by ring; rewrite Rabs_R0; unfold size; simpl; lra.
  - destruct (held_node _ _ H) as [Hl Hr].
    specialize (IHl Hl); specialize (IHr Hr).
    rewrite size_node, plus_INR; simpl leaves; rewrite sum_app, mass_app; simpl eval.
    pose proof (eval_format l Hl); pose proof (eval_format r Hr).
    assert (1 <= INR (size l)) by (change 1 with (INR 1); apply le_INR, size_pos).
    assert (1 <= INR (size r)) by (change 1 with (INR 1); apply le_INR, size_pos).
    apply by_count_step with (a := eval l) (b := eval r); trivial;
      try apply mass_pos; try apply sum_le_mass; try apply u_le_1.
    + apply plus_relative; trivial.
    + apply plus_error_le_l; auto with typeclass_instances.
    + apply plus_error_le_r; auto with typeclass_instances.
Qed.

(* ---- N-14: u times the sum of ufp(Z_k) ---- *)

(* The greatest power of two that is not above |x|. *)
Definition ufp (x : R) : R := if Req_bool x 0 then 0 else bpow radix2 (mag radix2 x - 1).

Lemma ufp_pos : forall x, 0 <= ufp x.
Proof. intros; unfold ufp; case Req_bool; [lra | apply bpow_ge_0]. Qed.

Lemma ufp_le : forall x y, Rabs x <= y -> ufp x <= ufp y.
Proof.
  intros x y H; unfold ufp.
  case (Req_bool_spec x 0); intros Hx; [case Req_bool; [lra | apply bpow_ge_0]|].
  assert (0 < Rabs x) by (apply Rabs_pos_lt; trivial).
  case (Req_bool_spec y 0); intros Hy; [lra|].
  apply bpow_le; assert (mag radix2 x <= mag radix2 y)%Z; [|lia].
  rewrite <- (mag_abs radix2 x); apply mag_le; trivial.
Qed.

Lemma plus_ufp : forall x y, format x -> format y -> Rabs (rnd (x + y) - (x + y)) <= u * ufp (x + y).
Proof.
  intros x y Hx Hy; unfold ufp; case Req_bool_spec; intros H0.
  { rewrite H0, round_0 by auto with typeclass_instances.
    replace (0 - 0) with 0 by ring; rewrite Rabs_R0; lra. }
  destruct (Z_le_gt_dec emin (mag radix2 (x + y) - prec)) as [C|C].
  - eapply Rle_trans; [apply error_le_half_ulp; auto with typeclass_instances|].
    rewrite ulp_neq_0 by trivial; unfold cexp, FLT_exp, u.
    rewrite Z.max_l by lia.
    rewrite <- bpow_plus; change (/ 2) with (bpow radix2 (-1)); rewrite <- bpow_plus.
    apply bpow_le; lia.
  - rewrite round_generic; auto with typeclass_instances.
    + replace (x + y - (x + y)) with 0 by ring; rewrite Rabs_R0.
      apply Rmult_le_pos; [apply Rlt_le, u_pos | apply bpow_ge_0].
    + apply FLT_format_plus_small; trivial.
      eapply Rle_trans; [apply Rlt_le, (bpow_mag_gt radix2) | apply bpow_le; lia].
Qed.

(* Some of the leaves. *)
Definition among (part whole : list R) : Prop := exists rest, Permutation (part ++ rest) whole.

Lemma among_node : forall l r xs, among (leaves (Node l r)) xs -> among (leaves l) xs /\ among (leaves r) xs.
Proof.
  intros l r xs [rest H]; simpl in H; split.
  - exists (leaves r ++ rest); rewrite app_assoc; trivial.
  - exists (leaves l ++ rest); eapply Permutation_trans; [|exact H].
    rewrite !app_assoc; apply Permutation_app_tail, Permutation_app_comm.
Qed.

(* f(2) + ... + f(n) *)
Fixpoint series (f : nat -> R) (n : nat) : R :=
  match n with O => 0 | S m => match m with O => 0 | S _ => series f m + f n end end.

Lemma series_S : forall f n, (1 <= n)%nat -> series f (S n) = series f n + f (S n).
Proof. intros f n H; destruct n; [lia | reflexivity]. Qed.

(* A tree of n leaves has n - 1 nodes, and they are not more, size by size, than those of a chain. *)
Lemma series_split : forall f, (forall k m, (1 <= k <= m)%nat -> f k <= f m) ->
  forall n2 n1, (1 <= n1)%nat -> (1 <= n2)%nat ->
  series f n1 + series f n2 + f (n1 + n2)%nat <= series f (n1 + n2).
Proof.
  intros f Hf.
  assert (M : forall n2 n1, (1 <= n1)%nat -> (1 <= n2)%nat -> series f n1 + series f n2 <= series f (n1 + n2 - 1)).
  { induction n2 as [|n2 IH]; intros n1 H1 H2; [lia|].
    destruct n2 as [|n2].
    - replace (n1 + 1 - 1)%nat with n1 by lia; simpl; lra.
    - rewrite (series_S f (S n2)) by lia.
      replace (n1 + S (S n2) - 1)%nat with (S (n1 + S n2 - 1)) by lia.
      rewrite (series_S f (n1 + S n2 - 1)) by lia.
      assert (f (S (S n2)) <= f (S (n1 + S n2 - 1))) by (apply Hf; lia).
      specialize (IH n1 H1 ltac:(lia)); lra. }
  intros n2 n1 H1 H2; specialize (M n2 n1 H1 H2).
  replace (n1 + n2)%nat with (S (n1 + n2 - 1)) at 2 by lia.
  rewrite (series_S f (n1 + n2 - 1)) by lia.
  replace (S (n1 + n2 - 1)) with (n1 + n2)%nat by lia; lra.
Qed.

Section Sharp.

Variable xs : list R.
(* P k: no k of them weigh more; Q k: no k of them add up to more, either way. *)
Variables P Q : nat -> R.
Hypothesis P_bounds : forall part, among part xs -> mass part <= P (length part).
Hypothesis Q_bounds : forall part, among part xs -> Rabs (sum part) <= Q (length part).
Hypothesis P_grows : forall k m, (k <= m)%nat -> P k <= P m.
Hypothesis Q_grows : forall k m, (k <= m)%nat -> Q k <= Q m.
Hypothesis P_pos : forall k, 0 <= P k.
Hypothesis Q_pos : forall k, 0 <= Q k.

Definition Z_ (k : nat) : R := Q k + INR (k - 2) * u * P k.

Lemma Z_grows : forall k m, (1 <= k <= m)%nat -> Z_ k <= Z_ m.
Proof.
  intros k m H; unfold Z_; apply Rplus_le_compat; [apply Q_grows; lia|].
  apply Rmult_le_compat; [| apply P_pos | | apply P_grows; lia].
  - apply Rmult_le_pos; [apply pos_INR | apply Rlt_le, u_pos].
  - apply Rmult_le_compat_r; [apply Rlt_le, u_pos | apply le_INR; lia].
Qed.

Lemma Z_pos : forall k, 0 <= Z_ k.
Proof.
  intros k; unfold Z_; pose proof (Q_pos k).
  assert (0 <= INR (k - 2) * u * P k); [|lra].
  apply Rmult_le_pos; [apply Rmult_le_pos; [apply pos_INR | apply Rlt_le, u_pos] | apply P_pos].
Qed.

(* What is added at a node, before it rounds. *)
Lemma node_within : forall l r, held l -> held r -> among (leaves (Node l r)) xs ->
  Rabs (eval l + eval r) <= Z_ (size (Node l r)).
Proof.
  intros l r Hl Hr A; pose proof u_pos as U.
  assert (S : Rabs (sum (leaves l ++ leaves r)) <= Q (size (Node l r))) by (apply Q_bounds; trivial).
  assert (W : mass (leaves l ++ leaves r) <= P (size (Node l r))) by (apply P_bounds; trivial).
  rewrite sum_app in S; rewrite mass_app in W.
  pose proof (by_count l Hl) as Cl; pose proof (by_count r Hr) as Cr.
  pose proof (size_pos l) as Sl; pose proof (size_pos r) as Sr.
  pose proof (mass_pos (leaves l)); pose proof (mass_pos (leaves r)).
  unfold Z_; rewrite size_node in *.
  set (k := INR (size l + size r - 2)).
  assert (K : 0 <= k) by apply pos_INR.
  assert (Kl : INR (size l) - 1 <= k).
  { unfold k; rewrite <- (minus_INR _ 1) by lia; apply le_INR; lia. }
  assert (Kr : INR (size r) - 1 <= k).
  { unfold k; rewrite <- (minus_INR _ 1) by lia; apply le_INR; lia. }
  replace (eval l + eval r) with
    ((sum (leaves l) + sum (leaves r)) + ((eval l - sum (leaves l)) + (eval r - sum (leaves r)))) by ring.
  eapply Rle_trans; [apply Rabs_triang|]; apply Rplus_le_compat; [trivial|].
  eapply Rle_trans; [apply Rabs_triang|].
  assert (El : (INR (size l) - 1) * u * mass (leaves l) <= k * u * mass (leaves l)).
  { apply Rmult_le_compat_r; trivial; apply Rmult_le_compat_r; lra. }
  assert (Er : (INR (size r) - 1) * u * mass (leaves r) <= k * u * mass (leaves r)).
  { apply Rmult_le_compat_r; trivial; apply Rmult_le_compat_r; lra. }
  assert (0 <= k * u) by (apply Rmult_le_pos; lra).
  assert (k * u * (mass (leaves l) + mass (leaves r)) <= k * u * P (size l + size r)) by
    (apply Rmult_le_compat_l; trivial).
  lra.
Qed.

Theorem sharp : forall t, held t -> among (leaves t) xs ->
  Rabs (eval t - sum (leaves t)) <= u * series (fun k => ufp (Z_ k)) (size t).
Proof.
  pose proof u_pos as U.
  induction t as [x|l IHl r IHr]; intros H A.
  - simpl; replace (x - (x + 0)) with 0 by ring; rewrite Rabs_R0; lra.
  - destruct (held_node _ _ H) as [Hl Hr]; destruct (among_node _ _ _ A) as [Al Ar].
    specialize (IHl Hl Al); specialize (IHr Hr Ar).
    pose proof (plus_ufp _ _ (eval_format l Hl) (eval_format r Hr)) as E.
    pose proof (ufp_le _ _ (node_within l r Hl Hr A)) as F.
    rewrite size_node in *; simpl leaves; rewrite sum_app; simpl eval.
    pose proof (series_split (fun k => ufp (Z_ k))
      (fun k m Hk => ufp_le (Z_ k) (Z_ m) ltac:(rewrite Rabs_pos_eq by apply Z_pos; apply Z_grows; trivial))
      (size r) (size l) (size_pos l) (size_pos r)) as G; simpl in G.
    replace (rnd (eval l + eval r) - (sum (leaves l) + sum (leaves r))) with
      ((rnd (eval l + eval r) - (eval l + eval r)) +
       ((eval l - sum (leaves l)) + (eval r - sum (leaves r)))) by ring.
    eapply Rle_trans; [apply Rabs_triang|].
    eapply Rle_trans; [apply Rplus_le_compat_l, Rabs_triang|].
    nra.
Qed.

End Sharp.

(* ---- the rule, as it is written: any order of the same contributions ---- *)

Corollary N_14 : forall xs t, Permutation (leaves t) xs -> Forall format xs ->
  Rabs (eval t - sum xs) <= (INR (length xs) - 1) * u * mass xs /\
  Rabs (eval t - sum xs) <= ((1 + u) ^ height t - 1) * mass xs.
Proof.
  intros xs t H F.
  assert (T : held t) by (unfold held; eapply Permutation_Forall; [apply Permutation_sym; exact H | exact F]).
  rewrite <- (sum_permutation _ _ H), <- (mass_permutation _ _ H), <- (Permutation_length H).
  split; [apply by_count | apply by_height]; trivial.
Qed.

(* sizes, above, below: |x|, max(x, 0) and max(-x, 0), each sorted from the greatest. P_k and Q_k are sums of the first k. *)
Corollary N_14_sharp : forall xs t sizes above below, Permutation (leaves t) xs -> Forall format xs ->
  Permutation sizes (map Rabs xs) -> descending sizes ->
  Permutation above (map (Rmax 0) xs) -> descending above ->
  Permutation below (map (fun x => Rmax 0 (- x)) xs) -> descending below ->
  Rabs (eval t - sum xs) <=
    u * series (fun k => ufp (Rmax (first k above) (first k below) + INR (k - 2) * u * first k sizes)) (length xs).
Proof.
  intros xs t sizes above below H F HS DS HA DA HB DB.
  assert (T : held t) by (unfold held; eapply Permutation_Forall; [apply Permutation_sym; exact H | exact F]).
  assert (PS : Forall (Rle 0) sizes) by (eapply all_pos; [|exact HS]; apply Rabs_pos).
  assert (PA : Forall (Rle 0) above) by (eapply all_pos; [|exact HA]; intros; apply Rmax_l).
  assert (PB : Forall (Rle 0) below) by (eapply all_pos; [|exact HB]; intros; apply Rmax_l).
  rewrite <- (sum_permutation _ _ H), <- (Permutation_length H).
  apply (sharp xs (fun k => first k sizes) (fun k => Rmax (first k above) (first k below))); trivial.
  - intros part [rest A]; unfold mass; eapply greatest_of; [exact A | exact HS | |]; trivial.
  - intros part [rest A].
    assert (U : sum part <= first (length part) above).
    { eapply Rle_trans; [apply sum_le_map with (f := Rmax 0); intros; apply Rmax_r|].
      eapply greatest_of; [exact A | exact HA | |]; trivial. }
    assert (L : - sum part <= first (length part) below).
    { eapply Rle_trans; [|eapply greatest_of; [exact A | exact HB | |]; trivial].
      rewrite <- sum_opp; eapply Rle_trans; [apply sum_le_map with (f := Rmax 0); intros; apply Rmax_r|].
      rewrite map_map; lra. }
    apply Rabs_le; split.
    + pose proof (Rmax_r (first (length part) above) (first (length part) below)); lra.
    + pose proof (Rmax_l (first (length part) above) (first (length part) below)); lra.
  - intros; apply first_grows; trivial.
  - intros k m K; apply Rmax_case.
    + eapply Rle_trans; [apply first_grows; [exact PA | exact K] | apply Rmax_l].
    + eapply Rle_trans; [apply first_grows; [exact PB | exact K] | apply Rmax_r].
  - intros; apply first_pos; trivial.
  - intros; eapply Rle_trans; [apply first_pos; exact PA | apply Rmax_l].
  - exists []; rewrite app_nil_r; trivial.
Qed.

End Additions.
