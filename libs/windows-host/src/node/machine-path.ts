import { RegistryKey, type RegistryValue } from '../registry/registry.js';
import { inPromise } from '../win32/calls/call.js';
import { refused, presence, type NodeStore, type Presence } from './node-store.js';

const KEY = 'SYSTEM\\CurrentControlSet\\Control\\Session Manager\\Environment';
const NAME = 'Path';

/**
 * Elements of the machine's `Path`. Keeps the value's type and never expands it, so that `%NAME%` stays as written.
 * Services see a change at their next start; open sessions do not, because nothing broadcasts the change.
 */
export function machinePath(): NodeStore<{ readonly path: string }, Presence> {
  return {
    read: ({ path }) =>
      presence(
        valueOf()
          .value.split(';')
          .some((each) => isSame(each, path)),
      ),
    write: ({ path }, state) =>
      inPromise(() => {
        if (/[;%"\0]/.test(path))
          throw refused('cannot change the PATH', 'a separator in the folder');
        const { type, value } = valueOf();
        // Keeps empty elements, so that joining them gives the same text again.
        const all = value.split(';');
        const others = all.filter((each) => !isSame(each, path));
        const isThere = others.length < all.length;
        if (isThere === (state !== undefined)) return;
        const added = value === '' ? path : `${value};${path}`;
        write({ type, value: state === undefined ? others.join(';') : added });
      }),
  };
}

function valueOf(): Extract<RegistryValue, { value: string }> {
  using key = RegistryKey.open(KEY);
  const found = key?.value(NAME);
  if (found === undefined) return { type: 'expandable-text', value: '' };
  if (found.type === 'text' || found.type === 'expandable-text') return found;
  throw refused('cannot read the PATH of the machine', `a value of the type ${found.type}`);
}

function write(value: RegistryValue): void {
  using key = RegistryKey.create(KEY);
  key.set(NAME, value);
  key.flush();
}

function isSame(a: string, b: string): boolean {
  const plain = (text: string): string =>
    text.trim().replace(/\//g, '\\').replace(/\\+$/, '').toLowerCase();
  return plain(a) === plain(b);
}
