/** Functions of the program that reads configs; loaded only when a config may be concerned. */
export interface DeliveredConfigs {
  /** Judges a file before it is delivered. */
  judgeDelivery(offered: {
    readonly from: string;
    readonly to: string;
    readonly base?: string | undefined;
    readonly merge: boolean;
    readonly allowDrop: readonly string[];
  }): Promise<
    | { readonly kind: 'refused'; readonly reason: string }
    | {
        readonly kind: 'accepted';
        /** Content that replaces the bytes of the file; absent to keep them. */
        readonly merged?: Buffer;
        /** Keys of the node that a merge leaves as they are. */
        readonly kept: readonly string[];
        /** Whether a config is replaced, or what replaces a file is one. */
        readonly isConfig: boolean;
        /** SHA-256 of the file that was judged; absent when there is none. */
        readonly replaces?: string;
      }
  >;
  /** Permits a content of a config file to drop guarded keys; without keys, none does any more. */
  permitDrops(file: string, sha256: string, keys: readonly string[]): Promise<void>;
  /** Keeps a config that is about to be replaced, as long as no daemon of the node keeps one. */
  keepReplaced(file: string): Promise<void>;
}
