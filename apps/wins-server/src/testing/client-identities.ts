import type { ClientIdentity } from '@wins/base';

export const ADMINISTRATOR: ClientIdentity = {
  key: 'uid:0',
  isAdministrator: true,
  isEverybody: false,
  description: { uid: 0 },
  names: ['administrators', 'user:0'],
};

export const CONTAINER: ClientIdentity = {
  key: 'container:c',
  isAdministrator: false,
  isEverybody: false,
  description: { container: 'c' },
  names: [`container:${'c'.repeat(64)}`],
};
