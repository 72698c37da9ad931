import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { copyCheckout, runAsAnotherUser } from '../testing/packages/checkout-copy.js';
import { packageFolder } from '../testing/packages/package-folder.js';
import { ROOT, Workspace } from '../testing/workspace.js';

it('has the same bytes in its bundles when the same commit is built elsewhere, by another user', () => {
  using workspace = new Workspace();
  const checkout = workspace.path('another checkout');
  copyCheckout(checkout);
  for (const name of ['wins', 'wins-upgrade', 'wins-cli', 'wins-server'])
    runAsAnotherUser(workspace.folder, path.join(checkout, 'tools', 'bundle.mjs'), `apps/${name}`);
  const bundles = readdirSync(path.join(checkout, 'dist')).filter((name) => name.endsWith('.cjs'));
  expect(bundles).toHaveLength(11);
  for (const name of bundles) {
    const [here, there] = [ROOT, checkout].map((root) =>
      readFileSync(path.join(root, 'dist', name)),
    );
    // The bytes also differ if dist/ is older than the commit; then run `npm run build`.
    expect([name, there?.equals(here ?? Buffer.of())]).toEqual([name, true]);
  }
});

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
