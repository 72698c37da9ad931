/** Why a text cannot be used. */
export interface Refusal {
  /** A clause that begins with `found` and repeats no value of the text, for the end of `cannot X: …`. */
  readonly found: string;
}
