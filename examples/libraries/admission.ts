import { PassThrough } from 'node:stream';
import { Places, type ClientIdentity } from '@wins/admission';

const client = (key: string): ClientIdentity => ({
  ...{ key, isAdministrator: false, isEverybody: false, description: {}, names: [] },
});
const places = new Places({
  ...{ places: 5, placesPerClient: 2, greetings: 2 },
  turnedAway: ({ key }, why) => console.log(`${key}: ${why}`),
});
const enter = (key: string) => places.enter(new PassThrough(), client(key));

// One client may have two places: a third connection takes the one of its first, which has no call.
for (const key of ['one', 'one', 'one']) enter(key).settle();

// Another finds room nevertheless. A connection with a call keeps its place.
for (const key of ['two', 'two']) {
  const place = enter(key);
  if (place.settle()) place.begin();
}
console.log(enter('two').settle(), places.size);
