import {
  CONTAINER_NETWORK,
  errnoOf,
  type ItemChange,
  type ListedItem,
  type NetworkItem,
  type RouteOutcome,
} from '@wins/base';
import { randomBytes } from 'node:crypto';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { LinuxError } from '../linux-error.js';
import {
  compileFilter,
  filterText,
  readFilter,
  type FilterHook,
  type FilterInstruction,
} from './container-filter.js';
import { isDenial, runIp } from './ip-command.js';

/**
 * Protocol number of our routes and rules, and group number of our bridge. Other programs may use 199 too, but an item without it is not ours.
 */
export const PROTOCOL = '199';
/** Priorities of our rules: after the system's rule for local addresses and before its rules for all other addresses. */
const PREFERENCES = { allow: '19900', deny: '19901' } as const;
const MAIN_TABLE = '254';
const PROHIBIT = '8';
const HOOKS: readonly FilterHook[] = ['ingress', 'egress'];
const FILTER_PREFERENCE = '199';
const CONF = '/proc/sys/net/ipv4/conf';

export type Row = Readonly<Record<string, unknown>>;

/** Includes the forwarding settings of the interfaces `names`. @throws LinuxError */
export async function listItems(names: readonly string[]): Promise<readonly ListedItem[]> {
  const [rules, bridge, forwarding] = await Promise.all([
    runIp(['-j', '-N', '-4', 'rule', 'show']).then((text) => rowsOf(text).flatMap(ruleOf)),
    listBridge(),
    listForwarding([...new Set([CONTAINER_NETWORK, ...names])]),
  ]);
  const filters = bridge.length === 0 ? [] : (await Promise.all(HOOKS.map(listFilter))).flat();
  return [...bridge, ...filters, ...rules, ...forwarding];
}

/** Never rejects. */
export async function changeItem(change: ItemChange): Promise<RouteOutcome> {
  try {
    return await (change.op === 'add' ? addItem(change.item) : removeItem(change));
  } catch (error) {
    const said = error instanceof Error ? error.message : String(error);
    if (change.op === 'add' && /File exists/.test(said)) return { kind: 'exists' };
    const isGone = /No such (?:process|file)|Cannot find device|Cannot assign requested/.test(said);
    if (change.op === 'remove' && isGone) return { kind: 'done' };
    const isDenied = isDenial(said) || ['EACCES', 'EPERM'].includes(errnoOf(error) ?? '');
    return { kind: 'failed', isDenied, message: said };
  }
}

async function addItem({ kind, key, value }: NetworkItem): Promise<RouteOutcome> {
  switch (kind) {
    case 'bridge': {
      // Without a fixed MAC address, the bridge's address would change with its attached interfaces.
      const octets = Array.from(randomBytes(5), (octet) => octet.toString(16).padStart(2, '0'));
      const mac = ['02', ...octets].join(':');
      await runIp(['link', 'add', key, 'up', 'address', mac, 'group', PROTOCOL, 'type', 'bridge']);
      break;
    }
    case 'address':
      await runIp(['addr', 'add', key, 'dev', value]);
      break;
    case 'filter': {
      const [name = '', hook] = key.split(' ');
      const code = compileFilter(value.split(' '), hook as FilterHook);
      if (code === undefined) throw new LinuxError('invalidArgument', `not a filter: ${value}`);
      // The clsact qdisc holds the filters of both directions.
      await runIp(['qdisc', 'add', 'dev', name, 'clsact'], 'tc').catch((error: unknown) => {
        if (!/File exists|Exclusivity flag on/.test(String(error))) throw error;
      });
      const words = ['filter', 'add', 'dev', name, hook ?? '', 'pref', FILTER_PREFERENCE];
      const program = ['protocol', 'all', 'bpf', 'bytecode', filterText(code), 'direct-action'];
      await runIp([...words, ...program], 'tc');
      break;
    }
    case 'rule':
      await runIp(['-4', 'rule', 'add', ...ruleWords(key, value)]);
      break;
    case 'forwarding': {
      if ((await readForwarding(key)) === value) return { kind: 'exists' };
      await writeFile(forwardingFile(key), value);
    }
  }
  return { kind: 'done' };
}

async function removeItem({ item, prior }: ItemChange): Promise<RouteOutcome> {
  const { kind, key, value } = item;
  switch (kind) {
    case 'bridge': {
      const attached = await readdir(`/sys/class/net/${key}/brif`).catch(() => []);
      if (attached.length > 0) {
        const message = `${attached.length} containers are attached to ${key}`;
        return { kind: 'failed', isDenied: false, message };
      }
      await runIp(['link', 'del', key, 'type', 'bridge']);
      break;
    }
    case 'address':
      await runIp(['addr', 'del', key, 'dev', value]);
      break;
    case 'filter': {
      const [name = '', hook = ''] = key.split(' ');
      await runIp(['filter', 'del', 'dev', name, hook, 'pref', FILTER_PREFERENCE], 'tc');
      break;
    }
    case 'rule':
      await runIp(['-4', 'rule', 'del', ...ruleWords(key, value)]);
      break;
    case 'forwarding': {
      // Keep a value that another program has changed.
      const isOurs = (await readForwarding(key)) === value;
      if (isOurs && prior !== undefined) await writeFile(forwardingFile(key), prior);
    }
  }
  return { kind: 'done' };
}

function ruleWords(key: string, network: string): readonly string[] {
  const [name = '', what] = key.split(' ');
  const isAllow = what === 'allow';
  const rule = isAllow ? ['to', network, 'lookup', 'main'] : ['prohibit'];
  return [
    'pref',
    PREFERENCES[isAllow ? 'allow' : 'deny'],
    'iif',
    name,
    ...rule,
    'protocol',
    PROTOCOL,
  ];
}

function ruleOf(row: Row): readonly ListedItem[] {
  const { priority, protocol, iif, dst, dstlen, table, action, src } = row;
  if (String(protocol) !== PROTOCOL || typeof iif !== 'string' || src !== 'all') return [];
  const rule = { kind: 'rule', isMarked: true } as const;
  const isTo = typeof dst === 'string' && dst !== 'all';
  if (String(priority) === PREFERENCES.allow && isTo && String(table) === MAIN_TABLE)
    return [
      { ...rule, key: `${iif} allow`, value: `${dst}/${typeof dstlen === 'number' ? dstlen : 32}` },
    ];
  const isDeny = String(priority) === PREFERENCES.deny && String(action) === PROHIBIT && !isTo;
  return isDeny ? [{ ...rule, key: `${iif} deny`, value: '' }] : [];
}

/** If another program made the interface of this name, `isMarked` is false. */
async function listBridge(): Promise<readonly ListedItem[]> {
  const name = CONTAINER_NETWORK;
  let text: string;
  try {
    text = await runIp(['-j', '-N', '-d', 'addr', 'show', 'dev', name]);
  } catch (error) {
    if (error instanceof LinuxError && /does not exist/.test(error.message)) return [];
    throw error;
  }
  return rowsOf(text).flatMap(({ ifname, group, linkinfo, addr_info: addresses }) => {
    if (ifname !== name) return [];
    const { info_kind: type } = (linkinfo ?? {}) as Row;
    const isMarked = String(group) === PROTOCOL && type === 'bridge';
    const value = isMarked ? '' : String(type);
    const own = Array.isArray(addresses) ? (addresses as readonly Row[]) : [];
    return [
      { kind: 'bridge', key: name, value, isMarked } as const,
      ...own
        .filter(({ family }) => family === 'inet')
        .map(({ local, prefixlen }) => ({
          ...({ kind: 'address', key: `${String(local)}/${String(prefixlen)}` } as const),
          value: name,
        })),
    ];
  });
}

async function listFilter(hook: FilterHook): Promise<readonly ListedItem[]> {
  const name = CONTAINER_NETWORK;
  const rows = rowsOf(await runIp(['-j', 'filter', 'show', 'dev', name, hook], 'tc'));
  return rows.flatMap(({ pref, options }) => {
    const { bytecode, 'direct-action': isDirect } = (options ?? {}) as Row;
    if (String(pref) !== FILTER_PREFERENCE || options === undefined) return [];
    const { insns } = (bytecode ?? {}) as { readonly insns?: readonly FilterInstruction[] };
    const networks = isDirect === true && insns !== undefined ? readFilter(insns, hook) : undefined;
    const value = networks?.join(' ') ?? 'another program';
    return [{ kind: 'filter', key: `${name} ${hook}`, value }];
  });
}

async function listForwarding(names: readonly string[]): Promise<readonly ListedItem[]> {
  // If forwarding is on for all interfaces, another program enabled it, so it is not ours on any interface.
  const isForAll = (await readForwarding('all')) === '1';
  const values = await Promise.all(
    names.map(async (key) => ({ key, value: await readForwarding(key) })),
  );
  return values.flatMap(({ key, value }) =>
    value === undefined
      ? []
      : [{ kind: 'forwarding', key, value, ...(isForAll && { isMarked: false }) }],
  );
}

async function readForwarding(name: string): Promise<string | undefined> {
  try {
    return (await readFile(forwardingFile(name), 'utf8')).trim();
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined;
    throw new LinuxError('unknown', `cannot read ${forwardingFile(name)}: ${String(error)}`);
  }
}

/** The path is safe, because the kernel allows no slash in an interface name. */
function forwardingFile(name: string): string {
  return `${CONF}/${name}/forwarding`;
}

/** @throws LinuxError `unknown` when the text is not a JSON list. */
export function rowsOf(text: string): readonly Row[] {
  let rows: unknown;
  try {
    rows = JSON.parse(text.trim() === '' ? '[]' : text);
  } catch (cause) {
    const message = 'the output of ip is not JSON. Install iproute2 5.0 or later';
    throw new LinuxError('unknown', message, { cause });
  }
  if (!Array.isArray(rows)) throw new LinuxError('unknown', 'the output of ip is not a list');
  return rows as readonly Row[];
}
