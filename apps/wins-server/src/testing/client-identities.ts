import type { ClientIdentity } from '@wins/base';

/** Administrator of the host. */
export const ADMINISTRATOR: ClientIdentity = {
  key: 'uid:0',
  isAdministrator: true,
  isEverybody: false,
  description: { uid: 0 },
  names: ['administrators', 'user:0'],
};

/** Process in a container, without administrator rights. */
export const CONTAINER: ClientIdentity = {
  key: 'container:c',
  isAdministrator: false,
  isEverybody: false,
  description: { container: 'c' },
  names: [`container:${'c'.repeat(64)}`],
};
