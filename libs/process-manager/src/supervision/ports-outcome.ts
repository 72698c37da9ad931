/** What becomes of the ports that a run exposes. */
export type PortsOutcome =
  /** They are opened before its program starts, or it does not start. */
  | { readonly kind: 'opened' }
  | { readonly kind: 'notNeeded'; readonly why: string }
  /** This manager has nothing that opens ports. */
  | { readonly kind: 'asTheHostHasThem' };
