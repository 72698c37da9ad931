/** Functions for configs, in a bundle that is loaded only when needed. */
export interface DeliveredConfigs {
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
        /** Bytes to write instead of those of `from`. */
        readonly merged?: Buffer;
        readonly kept: readonly string[];
        readonly isConfig: boolean;
        /** SHA-256 of the existing file that was judged; absent when there is none. */
        readonly replaces?: string;
      }
  >;
  /** Permits a config file with this content to drop guarded keys; an empty list revokes the permission. */
  permitDrops(file: string, sha256: string, keys: readonly string[]): Promise<void>;
  /** Keeps a copy of a config that is about to be replaced, unless the node's daemon stores its own copy. */
  keepReplaced(file: string): Promise<void>;
}
