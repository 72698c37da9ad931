import * as fc from 'fast-check';
import { UNIDENTIFIED, type ClientIdentity } from '@wins/base';
import type { ResourceRow } from './resources.js';
import { Shares, type Claim } from './shares.js';

const CLIENTS: readonly ClientIdentity[] = ['a', 'b', 'c', 'd', 'e', UNIDENTIFIED, 'root'].map(
  (key) => ({
    key,
    isAdministrator: key === 'root',
    isEverybody: false,
    description: {},
    names: [],
  }),
);

interface Action {
  readonly kind: 'take' | 'grow' | 'release';
  readonly who: number;
  readonly which: number;
  readonly amount: number;
}

const actions: fc.Arbitrary<Action[]> = fc.array(
  fc.record({
    kind: fc.constantFrom('take', 'take', 'take', 'grow', 'release'),
    who: fc.nat(CLIENTS.length - 1),
    which: fc.nat(20),
    amount: fc.integer({ min: 1, max: 3 }),
  }),
  { maxLength: 120 },
);
const rows: fc.Arbitrary<ResourceRow> = fc
  .record({ total: fc.integer({ min: 16, max: 40 }), reserve: fc.nat(3) })
  .map((numbers) => ({ what: 'things', floor: 1, atLimit: 'yields', ...numbers }));

/** Clients act at random on one resource, and a simple model predicts their shares. */
class World {
  readonly #shares: Shares;
  readonly #row: ResourceRow;
  readonly #claims: { readonly client: ClientIdentity; readonly claim: Claim }[] = [];

  constructor(row: ResourceRow) {
    this.#row = row;
    this.#shares = new Shares(row);
  }

  heldBy({ key }: ClientIdentity): number {
    return this.#claims.reduce(
      (sum, { client, claim }) => sum + (client.key === key ? claim.held : 0),
      0,
    );
  }

  /** Returns the share of the client: the total divided by the number of clients with claims, this one included. It is at most half the total. */
  shareOf({ key }: ClientIdentity): number {
    const present = CLIENTS.filter(
      (each) => !each.isAdministrator && (each.key === key || this.heldBy(each) > 0),
    ).length;
    const share = Math.floor(this.#row.total / Math.max(2, present));
    return Math.max(1, Math.floor(share * (key === UNIDENTIFIED ? 0.5 : 1)));
  }

  perform({ kind, who, which, amount }: Action): void {
    const client = CLIENTS[who] as ClientIdentity;
    if (kind === 'take') this.#take(client);
    else this.#change(client, which, kind === 'grow' ? amount : 0);
    this.#check();
  }

  #take(client: ClientIdentity): void {
    const hadNone = this.heldBy(client) === 0;
    const claim = this.#shares.take(client);
    if (claim !== undefined) {
      this.#claims.push({ client, claim });
      return;
    }
    if (client.isAdministrator || !hadNone) return;
    // A client without a claim is refused only if no other client holds more than its own share.
    for (const other of CLIENTS.filter((each) => !each.isAdministrator && each !== client))
      expect(this.heldBy(other)).toBeLessThanOrEqual(this.shareOf(other));
  }

  #change(client: ClientIdentity, which: number, amount: number): void {
    const own = this.#claims.filter((each) => each.client === client);
    const claim = own[which % Math.max(1, own.length)]?.claim;
    if (amount > 0) claim?.set(claim.held + amount);
    else claim?.release();
  }

  #check(): void {
    const { total, reserve } = this.#row;
    const all = CLIENTS.map((client) => this.heldBy(client));
    const held = all.reduce((sum, each) => sum + each, 0);
    expect(this.#shares.held).toBe(held);
    expect(held).toBeLessThanOrEqual(total);
    const ofAdministrators = all[CLIENTS.length - 1] ?? 0;
    if (ofAdministrators <= reserve)
      expect(held - ofAdministrators).toBeLessThanOrEqual(total - reserve);
  }
}

it('makes no client without items wait while another has more than its share, whatever clients do', () => {
  fc.assert(
    fc.property(rows, actions, (row, all) => {
      const world = new World(row);
      for (const action of all) world.perform(action);
    }),
    { numRuns: 300 },
  );
});

it('lets nobody have more than half for long: what a client takes beyond its share is refused', () => {
  fc.assert(
    fc.property(rows, fc.nat(CLIENTS.length - 2), actions, (row, who, all) => {
      const world = new World(row);
      for (const action of all) world.perform(action);
      const client = CLIENTS[who] as ClientIdentity;
      // It keeps what it took when there were fewer clients, while nobody else needs that.
      const before = world.heldBy(client);
      for (let more = 0; more < row.total; more += 1)
        world.perform({ kind: 'take', who, which: 0, amount: 1 });
      const most = Math.max(before, world.shareOf(client));
      expect(world.heldBy(client)).toBeLessThanOrEqual(most);
    }),
    { numRuns: 100 },
  );
});
