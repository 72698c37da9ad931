import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { EventRing, readEvents } from '@wins/event-ring';

const directory = path.join(await mkdtemp(path.join(tmpdir(), 'example-')), 'events');
const ring = new EventRing({ directory });
ring.tell('started', { version: 'v1.0.0' });

// Anyone may ask for thousands of these.
for (let times = 0; times < 5000; times += 1) ring.tell('refused', { times }, 'refused');

const { events, next } = await ring.page({ limit: 2 });
console.log(events.map(({ seq, type }) => `${seq} ${type}`).join(', '), next);
await ring.close();

// The files can be read without the program.
const types = new Set<string>();
for await (const { type } of readEvents(directory)) types.add(type);
console.log([...types].join(', '));
