import { readFileSync } from 'node:fs';
import yaml from 'yaml';
import { z } from 'zod';

const ATTACKERS = {
  container: 'a container with the main pipe',
  tunnel: 'a container with the tunnel pipe',
  user: 'a user of the host',
  network: 'a peer on the network',
  server: 'a server that the node asks',
  plan: 'the writer of a plan',
  log: 'a reader of logs and files',
  accident: 'an accident',
};
const ASSETS = {
  programs: 'Only listed programs run',
  runs: 'Runs belong to their clients',
  daemon: 'The daemon serves everyone',
  pipe: 'The pipe is the daemon’s',
  'host-network': 'The network of the host',
  node: 'Files, services and releases of the node',
  records: 'Logs, audit records, events and metrics',
  secrets: 'Secrets',
};
const attacksSchema = z.array(
  z.strictObject({
    id: z.string().regex(/^A\d+$/),
    attackers: z.array(z.literal(Object.keys(ATTACKERS))).nonempty(),
    assets: z.array(z.literal(Object.keys(ASSETS))).nonempty(),
    attack: z.string().nonempty(),
    defence: z.string().nonempty(),
    tests: z.array(z.string().nonempty()).nonempty(),
    since: z.iso.date(),
  }),
);

/**
 * Returns Markdown: a matrix of attackers and assets, then one section for each asset. Each attack appears once, in the section for its first asset.
 *
 * @param {string} file
 */
export function attacksSection(file) {
  const attacks = attacksSchema.parse(yaml.parse(readFileSync(file, 'utf8')));
  const ids = attacks.map(({ id }) => id);
  const twice = ids.find((id, at) => ids.indexOf(id) !== at);
  if (twice !== undefined) throw new Error(`${file} has ${twice} twice`);
  const cell = (/** @type {string} */ attacker, /** @type {string} */ asset) =>
    rangesOf(
      attacks.filter((one) => one.attackers.includes(attacker) && one.assets.includes(asset)),
    );
  const matrix = [
    `| attacker | ${Object.values(ASSETS).join(' | ')} |`,
    `|-|${'-|'.repeat(Object.keys(ASSETS).length)}`,
    ...Object.entries(ATTACKERS).map(
      ([attacker, name]) =>
        `| ${[name, ...Object.keys(ASSETS).map((asset) => cell(attacker, asset))].join(' | ')} |`,
    ),
  ];
  const sections = Object.entries(ASSETS).map(([asset, title]) =>
    [
      `### ${title}`,
      ...attacks.filter(({ assets }) => assets[0] === asset).map((attack) => textOf(attack)),
    ].join('\n\n'),
  );
  return [matrix.join('\n'), ...sections].join('\n\n');
}

/** @param {z.infer<typeof attacksSchema>[number]} attack */
function textOf({ id, attackers, attack, defence, tests, since }) {
  const by = attackers.map((attacker) => ATTACKERS[attacker]).join(', ');
  return `**${id}. ${attack}**\n_By ${by}; since ${since}._ ${defence}\n\n- ${tests.join('\n- ')}`;
}

/** @param {readonly { id: string }[]} attacks */
function rangesOf(attacks) {
  const numbers = attacks.map(({ id }) => Number(id.slice(1))).sort((a, b) => a - b);
  const ranges = [];
  for (const number of numbers) {
    const last = ranges.at(-1);
    if (last !== undefined && last[1] === number - 1) last[1] = number;
    else ranges.push([number, number]);
  }
  return ranges.map(([a, b]) => (a === b ? `A${a}` : `A${a}–A${b}`)).join(', ');
}
