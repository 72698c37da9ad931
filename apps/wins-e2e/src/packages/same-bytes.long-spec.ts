import { readFileSync } from 'node:fs';
import path from 'node:path';
import { copyCheckout, runAsAnotherUser } from '../testing/checkout-copy.js';
import { packageFolder } from '../testing/package-folder.js';
import { Workspace } from '../testing/workspace.js';

it('packages the same bytes when the same commit is packaged elsewhere, by another user', () => {
  using workspace = new Workspace();
  const checkout = workspace.path('another checkout');
  copyCheckout(checkout);
  runAsAnotherUser(workspace.folder, path.join(checkout, 'tools', 'package', 'package.mjs'));
  const [here, there] = [packageFolder(), path.join(checkout, 'dist', 'package')].map((folder) =>
    readFileSync(path.join(folder, 'SHA256SUMS'), 'utf8'),
  );
  expect(there).toBe(here);
});
