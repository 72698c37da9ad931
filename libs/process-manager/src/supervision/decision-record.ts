import type { ProcessErrorCode } from '../process-error.js';

/**
 * One decision, for the audit log. It holds neither arguments nor the values of variables, which may
 * be secrets. `path` is as the client spelt it, cut at 1,024 characters: write it as JSON.
 */
export interface DecisionRecord {
  readonly action: 'start' | 'wait' | 'keepAlive' | 'stop';
  readonly verdict: 'allowed' | 'refused';
  /** `ProcessOwner.id` of the connection that asked. */
  readonly requester: string;
  /** What the client calls itself: its own words, proof of nothing. */
  readonly clientSays?: string;
  /** `ProcessOwner.client` of a start, as the system describes it. */
  readonly client?: Readonly<Record<string, string | number>>;
  /** Names the run without giving a right to it: the `mark` of `ManagedProcess`. */
  readonly mark: string;
  readonly path: string;
  readonly name?: string;
  /** Of a start: the file name of the entry that names the program, once that has let the client pass. */
  readonly entry?: string;
  /** The code of the refusal. */
  readonly code?: ProcessErrorCode;
  /** The rule that refused, or the path of the entry that allowed. */
  readonly rule?: string;
  /** Of a start that was refused for it: the name of a variable, cut at 128 characters. */
  readonly variable?: string;
  /** Digest of the bytes that will run. */
  readonly sha256?: string;
  /** Of a start that exposes ports: which, such as `tcp 9796`, at most 64 of them. */
  readonly exposes?: readonly string[];
  /**
   * What becomes of these: `opened` before the program starts, or it does not start; `notNeeded`, because of `portsReason`;
   * `asTheHostHasThem` where nothing opens ports.
   */
  readonly ports?: 'opened' | 'notNeeded' | 'asTheHostHasThem';
  readonly portsReason?: string;
  readonly argumentCount?: number;
  /** The first 64 names, each cut at 128 characters; empty for an entry without `=`. */
  readonly environmentNames?: readonly string[];
}
