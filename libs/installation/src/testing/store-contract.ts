import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Item, ItemKind, StateOf } from '../item/item.js';
import { contentOf } from '../item/step.js';
import type { ItemStore } from '../ports.js';

export interface StoreSubject<K extends ItemKind = ItemKind> {
  readonly store: ItemStore<K>;
  /** Must not exist before the first check. */
  readonly item: Item<K>;
  /** States to write in turn. */
  readonly states: readonly [StateOf<K>, ...StateOf<K>[]];
  /** The contents whose digests are in the states. */
  readonly contents?: readonly Uint8Array[];
}

/**
 * Returns the checks that every implementation of `ItemStore` must pass. They suit any test runner:
 * `test.each(storeContract(subject))('%s', async (_name, check) => check())`. Each check depends on those before it.
 */
export function storeContract<K extends ItemKind>(
  subject: StoreSubject<K>,
): readonly (readonly [name: string, check: () => Promise<void>])[] {
  const { store, item, states } = subject;
  const write = (state: StateOf<K> | undefined): Promise<void> =>
    withContent(subject, state, (content) => store.write(item, state, content));
  const contract: Readonly<Record<string, () => Promise<void>>> = {
    'finds nothing where nothing is, and removes it without error': async () => {
      assert.equal(await store.read(item), undefined);
      await write(undefined);
    },
    'makes a thing so that it is read as it was written, once or twice': async () => {
      for (const state of [...states, states[0]]) {
        await write(state);
        assert.deepEqual(await store.read(item), state);
        await write(state);
        assert.deepEqual(await store.read(item), state);
      }
    },
    'keeps its content, if it has one': async () => {
      const sha256 = contentOf(item as Item, states[0] as StateOf);
      if (sha256 === undefined) return;
      const folder = mkdtempSync(path.join(tmpdir(), 'wins-store-'));
      try {
        await store.keep?.(item, path.join(folder, 'kept'));
        assert.equal(digestOf(readFileSync(path.join(folder, 'kept'))), sha256);
      } finally {
        rmSync(folder, { recursive: true });
      }
    },
    'refuses content with another digest, and leaves the thing as it is': async () => {
      const sha256 = contentOf(item as Item, states[0] as StateOf);
      if (sha256 === undefined) return;
      await write(undefined);
      const other = { ...subject, contents: [], fallback: Buffer.from('something else') };
      await assert.rejects(
        withContent(other, states[0], (content) => store.write(item, states[0], content)),
      );
      assert.equal(await store.read(item), undefined);
    },
    'removes a thing, once or twice': async () => {
      await write(states[0]);
      await write(undefined);
      assert.equal(await store.read(item), undefined);
      await write(undefined);
      assert.equal(await store.read(item), undefined);
    },
  };
  return Object.entries(contract);
}

async function withContent<K extends ItemKind>(
  { item, contents = [], fallback }: StoreSubject<K> & { readonly fallback?: Uint8Array },
  state: StateOf<K> | undefined,
  task: (content: string | undefined) => Promise<void>,
): Promise<void> {
  const sha256 = contentOf(item as Item, state as StateOf | undefined);
  if (sha256 === undefined) return task(undefined);
  const content = contents.find((each) => digestOf(each) === sha256) ?? fallback;
  assert.ok(content, 'the subject has the content of each state');
  const folder = mkdtempSync(path.join(tmpdir(), 'wins-store-'));
  try {
    const file = path.join(folder, sha256);
    writeFileSync(file, content);
    await task(file);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function digestOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
