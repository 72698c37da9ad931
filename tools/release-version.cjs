// Tells `nx release` how to write a version. For the program it also writes the version into other files, and lists the keys of the config.
const { execFileSync } = require('node:child_process');
const actions = require('@nx/js/src/release/version-actions');

exports.afterAllProjectsVersioned = actions.afterAllProjectsVersioned;

const RELEASED_KEYS = 'libs/config/released-keys.json';
const OTHERS = [
  ['package.json', /^( {2}"version": ")[^"]*/m],
  ['charts/rancher-wins-upgrader/Chart.yaml', /^((?:v|appV)ersion: ).*/gm],
];

exports.default = class ReleaseVersion extends actions.default {
  /** @override */
  async updateProjectVersion(tree, version) {
    const log = await super.updateProjectVersion(tree, version);
    if (this.projectGraphNode.name === '@wins/wins') {
      const list = [require.resolve('./released-keys.mjs'), version];
      tree.write(RELEASED_KEYS, execFileSync(process.execPath, list, { encoding: 'utf8' }));
      log.push(`✍️  Keys of the config written to ${RELEASED_KEYS}`);
      for (const [file, line] of OTHERS) {
        tree.write(file, tree.read(file, 'utf8').replace(line, `$1${version}`));
        log.push(`✍️  New version ${version} written to ${file}`);
      }
    }
    return log;
  }
};
