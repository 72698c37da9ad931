/** Reason why a text cannot be used. */
export interface Refusal {
  /** A clause that begins with `found`, for the end of `cannot X: …`; contains no value of the text. */
  readonly found: string;
}
