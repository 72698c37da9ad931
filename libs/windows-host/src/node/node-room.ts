/** How things of one kind of a node are read and written. */
export interface NodeRoom<Item, State> {
  /** Undefined when it is absent. */
  read(item: Item): Promise<State | undefined>;
  /** Undefined removes it. `content` is a private file with what a digest of the state stands for. */
  write(item: Item, state: State | undefined, content: string | undefined): Promise<void>;
}

/** A room for things with content. */
export interface ContentRoom<Item, State> extends NodeRoom<Item, State> {
  /** Writes the content of a thing to a new file, which gets the access list that its folder gives. */
  keep(item: Item, file: string): Promise<void>;
}

/** A thing that is there or not. */
export type Presence = 'present';

/** What a room of presence says. */
export function presence(isThere: boolean): Promise<Presence | undefined> {
  return Promise.resolve(isThere ? 'present' : undefined);
}

/** What an act gives; what it throws is a rejection. */
export function settled<T>(act: () => T | Promise<T>): Promise<T> {
  return Promise.resolve().then(act);
}
