(* What every order of additions keeps: rules N-15 and N-07 of spec/semantics.md. *)
From Coq Require Import ZArith Reals List Permutation Sorted Lia Lra.
From Flocq Require Import Core Plus_error Relative.
From Alar Require Import lists any_order.
Import ListNotations.
Open Scope R_scope.

Section Additions.

Variables emin prec : Z.
Context {prec_gt_0_ : Prec_gt_0 prec}.
Variable choice : Z -> bool.

Notation fexp := (FLT_exp emin prec).
Notation format := (generic_format radix2 fexp).
Notation eval := (eval emin prec choice).

(* ---- N-15: where no partial sum rounds ---- *)

Definition multiple (g : Z) (x : R) : Prop := exists m : Z, x = IZR m * bpow radix2 g.

Lemma multiple_plus : forall g x y, multiple g x -> multiple g y -> multiple g (x + y).
Proof. intros g x y [m ->] [k ->]; exists (m + k)%Z; rewrite plus_IZR; ring. Qed.

Lemma small_multiple_is_held : forall g x, (emin <= g)%Z -> multiple g x -> Rabs x <= bpow radix2 (g + prec) -> format x.
Proof.
  intros g x Hg [m ->] H; pose proof (bpow_gt_0 radix2 g) as B.
  assert (Hp : (0 < prec)%Z) by exact prec_gt_0_.
  rewrite Rabs_mult, (Rabs_pos_eq (bpow _ g)), (Z.add_comm g), bpow_plus in H by lra.
  apply Rmult_le_reg_r in H; trivial.
  rewrite <- abs_IZR, <- IZR_Zpower in H by lia; apply le_IZR in H.
  destruct (Z_le_lt_eq_dec _ _ H) as [L|L].
  - apply generic_format_FLT; apply FLT_spec with (f := Float radix2 m g); [reflexivity | exact L | exact Hg].
  - destruct (Zabs_dec m) as [M|M]; rewrite M; rewrite L in *.
    + rewrite IZR_Zpower, <- bpow_plus by lia; apply generic_format_FLT_bpow; [exact prec_gt_0_ | lia].
    + rewrite opp_IZR, Ropp_mult_distr_l_reverse; apply generic_format_opp.
      rewrite IZR_Zpower, <- bpow_plus by lia; apply generic_format_FLT_bpow; [exact prec_gt_0_ | lia].
Qed.

Theorem order_free : forall g t, (emin <= g)%Z -> Forall (multiple g) (leaves t) ->
  mass (leaves t) <= bpow radix2 (g + prec) -> eval t = sum (leaves t) /\ multiple g (eval t).
Proof.
  intros g; induction t as [x|l IHl r IHr]; intros Hg M W; simpl leaves in *.
  - simpl; inversion M; subst; split; [ring | trivial].
  - apply Forall_app in M; destruct M as [Ml Mr]; rewrite mass_app in W.
    pose proof (mass_pos (leaves l)); pose proof (mass_pos (leaves r)).
    destruct (IHl Hg Ml ltac:(lra)) as [El Gl]; destruct (IHr Hg Mr ltac:(lra)) as [Er Gr].
    pose proof (multiple_plus g _ _ Gl Gr) as G; simpl eval.
    rewrite round_generic; auto with typeclass_instances; [split; trivial; rewrite sum_app; lra|].
    apply small_multiple_is_held with g; trivial.
    rewrite El, Er, <- sum_app; eapply Rle_trans; [apply sum_le_mass | rewrite mass_app; trivial].
Qed.

(* Every sum is a multiple of what its terms are multiples of, rounded or not. *)
Theorem granularity : forall g t, (emin <= g)%Z -> Forall (multiple g) (leaves t) -> multiple g (eval t).
Proof.
  intros g; induction t as [x|l IHl r IHr]; intros Hg M; simpl leaves in *; [inversion M; trivial|].
  apply Forall_app in M; destruct M as [Ml Mr]; simpl eval.
  pose proof (multiple_plus g _ _ (IHl Hg Ml) (IHr Hg Mr)) as G; set (s := eval l + eval r) in *.
  destruct (Z_le_gt_dec g (cexp radix2 fexp s)) as [C|C].
  - unfold round, F2R; simpl; set (m := Znearest choice _); set (e := cexp radix2 fexp s) in *.
    exists (m * 2 ^ (e - g))%Z.
    rewrite mult_IZR; change 2%Z with (radix_val radix2); rewrite IZR_Zpower by lia.
    rewrite Rmult_assoc, <- bpow_plus; do 2 f_equal; lia.
  - destruct G as [m Em]; rewrite round_generic; auto with typeclass_instances; [exists m; trivial|].
    rewrite Em; change (format (F2R (Float radix2 m g))); apply generic_format_F2R; intros _.
    change (cexp radix2 fexp (IZR m * bpow radix2 g) <= g)%Z; rewrite <- Em; fold s; lia.
Qed.

(* ---- N-07: sums grow with their parts ---- *)

Inductive below : tree -> tree -> Prop :=
| below_leaf : forall x y, x <= y -> below (Leaf x) (Leaf y)
| below_node : forall l r l' r', below l l' -> below r r' -> below (Node l r) (Node l' r').

Theorem monotone : forall t t', below t t' -> eval t <= eval t'.
Proof. induction 1; simpl; [trivial | apply round_le; auto with typeclass_instances; lra]. Qed.

Corollary N_15 : forall g xs t, Permutation (leaves t) xs -> (emin <= g)%Z -> Forall (multiple g) xs ->
  mass xs <= bpow radix2 (g + prec) -> eval t = sum xs.
Proof.
  intros g xs t H Hg F W; rewrite <- (sum_permutation _ _ H).
  apply order_free with g; trivial; [eapply Permutation_Forall; [apply Permutation_sym; exact H | exact F]|].
  rewrite (mass_permutation _ _ H); trivial.
Qed.

End Additions.
