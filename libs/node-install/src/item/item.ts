/**
 * Who may use a file or folder: `private` (administrators and this account), `readable` (all may read it), `executable` (all may
 * read and run it), or what the host found instead, in its own words: SDDL on Windows, mode and owner elsewhere.
 */
export type Access = string;

/** A thing of the node that is there or not. */
export type Presence = 'present';

/** How a service is registered. */
export interface ServiceState {
  /** Its command line, as the service manager keeps it. */
  readonly command: string;
  readonly startType: 'automatic' | 'delayed' | 'manual' | 'disabled';
}

/** The kinds of things of a node that an installation makes: how one is named, and in which state it can be when it is there. */
export interface ItemKinds {
  /** `isData`: all that is in it is ours too, and goes with it. */
  readonly folder: [
    at: { readonly path: string; readonly isData?: true },
    state: { access: Access },
  ];
  readonly file: [at: { readonly path: string }, state: { sha256: string; access: Access }];
  /** The program that a service runs: a file that is replaced by the upgrade of the service. */
  readonly program: [at: { readonly path: string }, state: { sha256: string }];
  /** An element of the PATH of the machine. */
  readonly pathElement: [at: { readonly path: string }, state: Presence];
  /** A certificate of the machine's root store, by the SHA-256 of its DER form. */
  readonly certificate: [at: { readonly sha256: string }, state: Presence];
  readonly winHttpProxy: [at: object, state: { proxy: string; bypass: string }];
  readonly eventSource: [at: { readonly name: string }, state: Presence];
  readonly service: [at: { readonly name: string }, state: ServiceState];
  /** A variable of the environment of one service, by the SHA-256 of its value, which may be secret. */
  readonly variable: [
    at: { readonly service: string; readonly name: string },
    state: { sha256: string },
  ];
  /** That a service is started only after another. */
  readonly dependency: [at: { readonly service: string; readonly on: string }, state: Presence];
  /** That a service runs. */
  readonly running: [at: { readonly service: string }, state: Presence];
}

/** The name of a kind of {@link Item}. */
export type ItemKind = keyof ItemKinds;

/** One thing of a node. */
export type Item<K extends ItemKind = ItemKind> = {
  [Kind in K]: { readonly kind: Kind } & ItemKinds[Kind][0];
}[K];

/** The state of a thing that is there; one that is absent has none. */
export type StateOf<K extends ItemKind = ItemKind> = {
  [Kind in K]: Readonly<ItemKinds[Kind][1]>;
}[K];

/** The name of an item for comparison: the same for the same thing. The letter case of paths of Windows has no part in it. */
export function itemId(item: Item): string {
  const name = itemName(item);
  return 'path' in item && /^[A-Za-z]:\\/.test(item.path) ? name.toLowerCase() : name;
}

/** The name of an item for people, on one line. */
export function itemName(item: Item): string {
  const { kind } = item;
  switch (kind) {
    case 'folder':
    case 'file':
    case 'program':
    case 'pathElement':
      return `${kind} ${item.path}`;
    case 'certificate':
      return `${kind} ${item.sha256}`;
    case 'winHttpProxy':
      return kind;
    case 'eventSource':
    case 'service':
      return `${kind} ${item.name}`;
    case 'variable':
      return `${kind} ${item.service} ${item.name}`;
    case 'dependency':
      return `${kind} ${item.service} ${item.on}`;
    case 'running':
      return `${kind} ${item.service}`;
  }
}
