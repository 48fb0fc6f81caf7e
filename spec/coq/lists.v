(* Sums of lists of reals, and the greatest of them. *)
From Coq Require Import Reals List Permutation Sorted Lia Lra.
Import ListNotations.
Open Scope R_scope.

(* ---- lists of numbers ---- *)

Fixpoint sum (l : list R) : R :=
  match l with [] => 0 | x :: l' => x + sum l' end.

Definition mass (l : list R) : R := sum (map Rabs l).

Lemma sum_app : forall a b, sum (a ++ b) = sum a + sum b.
Proof. induction a; simpl; intros; [|rewrite IHa]; lra. Qed.

Lemma mass_app : forall a b, mass (a ++ b) = mass a + mass b.
Proof. intros; unfold mass; rewrite map_app; apply sum_app. Qed.

Lemma sum_permutation : forall a b, Permutation a b -> sum a = sum b.
Proof. induction 1; simpl; lra. Qed.

Lemma mass_permutation : forall a b, Permutation a b -> mass a = mass b.
Proof. intros; apply sum_permutation, Permutation_map; trivial. Qed.

Lemma mass_pos : forall l, 0 <= mass l.
Proof. induction l as [|x l]; unfold mass in *; simpl; [lra | pose proof (Rabs_pos x); lra]. Qed.

Lemma sum_le_mass : forall l, Rabs (sum l) <= mass l.
Proof.
  induction l as [|x l]; unfold mass in *; simpl; [rewrite Rabs_R0; lra|].
  eapply Rle_trans; [apply Rabs_triang | lra].
Qed.

(* ---- no k of them are more than the k greatest ---- *)

Definition descending : list R -> Prop := Sorted (fun x y => y <= x).
Definition first (k : nat) (l : list R) : R := sum (firstn k l).

Lemma descending_head : forall x l, descending (x :: l) -> forall y, In y l -> y <= x.
Proof.
  intros x l H y I; apply Sorted_StronglySorted in H; [|intros a b c; lra].
  inversion H; subst; rewrite Forall_forall in *; auto.
Qed.

Lemma first_pos : forall l k, Forall (Rle 0) l -> 0 <= first k l.
Proof.
  unfold first; induction l as [|x l]; destruct k; simpl; intros H; try lra.
  inversion H; subst; specialize (IHl k ltac:(trivial)); lra.
Qed.

Lemma first_grows : forall l k m, Forall (Rle 0) l -> (k <= m)%nat -> first k l <= first m l.
Proof.
  unfold first; induction l as [|x l]; intros k m H K; [rewrite !firstn_nil; lra|].
  inversion H; subst; destruct k; [simpl firstn at 1; simpl sum at 1; apply (first_pos (x :: l)); trivial|].
  destruct m; [lia|]; simpl; specialize (IHl k m ltac:(trivial) ltac:(lia)); lra.
Qed.

Lemma first_skip : forall l x k, Forall (Rle 0) (x :: l) -> descending (x :: l) -> first k l <= first k (x :: l).
Proof.
  unfold first; induction l as [|y l]; intros x k P D; destruct k; simpl; try lra.
  - inversion P; subst; rewrite firstn_nil; simpl; lra.
  - inversion P; inversion D; subst.
    assert (y <= x) by (eapply descending_head; [exact D | left; trivial]).
    specialize (IHl y k ltac:(trivial) ltac:(trivial)); simpl in IHl; lra.
Qed.

Lemma greatest : forall l part rest : list R, descending l -> Forall (Rle 0) l -> Permutation (part ++ rest) l ->
  sum part <= first (length part) l.
Proof.
  induction l as [|x l IH]; intros part rest D P H.
  - apply Permutation_sym, Permutation_nil in H; apply app_eq_nil in H; destruct H; subst; unfold first; simpl; lra.
  - assert (I : In x (part ++ rest)) by (eapply Permutation_in; [apply Permutation_sym; exact H | left; trivial]).
    inversion D; inversion P; subst; apply in_app_or in I; destruct I as [I|I].
    + apply in_split in I; destruct I as [a [b ->]].
      assert (H' : Permutation ((a ++ b) ++ rest) l).
      { apply Permutation_cons_inv with x; eapply Permutation_trans; [|exact H].
        rewrite <- !app_assoc; simpl; apply Permutation_middle. }
      specialize (IH (a ++ b) rest ltac:(trivial) ltac:(trivial) H').
      rewrite sum_app in *; simpl; rewrite app_length in *; simpl.
      replace (length a + S (length b))%nat with (S (length a + length b)) by lia.
      unfold first in *; simpl; lra.
    + apply in_split in I; destruct I as [a [b ->]].
      assert (H' : Permutation (part ++ (a ++ b)) l).
      { apply Permutation_cons_inv with x; eapply Permutation_trans; [|exact H].
        rewrite !app_assoc; apply Permutation_middle. }
      specialize (IH part (a ++ b) ltac:(trivial) ltac:(trivial) H').
      eapply Rle_trans; [exact IH | apply first_skip; trivial].
Qed.

Lemma sum_opp : forall l, sum (map Ropp l) = - sum l.
Proof. induction l; simpl; lra. Qed.

Lemma sum_le_map : forall (f : R -> R) (l : list R), (forall x, x <= f x) -> sum l <= sum (map f l).
Proof. induction l as [|x l]; simpl; intros H; [lra | specialize (IHl H); specialize (H x); lra]. Qed.

Lemma greatest_of : forall (f : R -> R) (xs ys part rest : list R), Permutation (part ++ rest) xs -> Permutation ys (map f xs) ->
  descending ys -> Forall (Rle 0) ys -> sum (map f part) <= first (length part) ys.
Proof.
  intros f xs ys part rest H Y D P; rewrite <- (map_length f); apply greatest with (map f rest); trivial.
  rewrite <- map_app; eapply Permutation_trans; [apply Permutation_map; exact H | apply Permutation_sym; exact Y].
Qed.

Lemma all_pos : forall (f : R -> R) (xs ys : list R), (forall x, 0 <= f x) -> Permutation ys (map f xs) -> Forall (Rle 0) ys.
Proof.
  intros f xs ys F Y; eapply Permutation_Forall; [apply Permutation_sym; exact Y|].
  apply Forall_forall; intros y I; apply in_map_iff in I; destruct I as [x [<- _]]; apply F.
Qed.
