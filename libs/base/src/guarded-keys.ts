/** Config keys whose loss would silently disable part of a node, or a protection of it. To drop one, an operator must name it in `--allow-drop`. */
export const GUARDED_KEYS = [
  'systemagent',
  'csi-proxy',
  'white_list',
  'hostNetwork',
  'keep',
  'upgrade.signedBy',
] as const;

/** A guarded key, as the config file spells it. */
export type GuardedKey = (typeof GUARDED_KEYS)[number];

const LOSSES: Readonly<Record<GuardedKey, string>> = {
  systemagent: 'which follows the plans of the node',
  'csi-proxy': 'without which csi-proxy is removed from the node',
  hostNetwork: 'without which routes and the network of containers are removed from the node',
  white_list: 'everything that clients may run and reach',
  keep: 'without which the programs that the daemon keeps end',
  'upgrade.signedBy': 'without which any program may become the daemon',
};

/** Returns a list such as `systemagent (which follows the plans of the node), …`. */
export function describeLosses(keys: readonly GuardedKey[]): string {
  return keys.map((key) => `${key} (${LOSSES[key]})`).join(', ');
}
