import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import ts from 'typescript';

/**
 * Finds circular imports of values and types, static and dynamic, by path or by package name.
 *
 * @param root - Folder of the repository.
 * @param files - Paths relative to the root, with their text.
 * @param nodeOf - Returns what a file counts as. Default: each file counts as itself.
 * @returns Each circle: its files, or what they count as, in the order of imports; the first is repeated at the end. If circles share a node, only
 *   one circle is returned.
 */
export function findCircles(root, files, nodeOf = (file) => file) {
  const doors = doorsOfPackages(root);
  const known = new Set(files.map(({ file }) => file));
  const imports = new Map(files.map(({ file }) => [nodeOf(file), new Set()]));
  for (const { file, text } of files) {
    const names = ts.preProcessFile(text, true, true).importedFiles.map((one) => one.fileName);
    for (const name of names) {
      const found = name.startsWith('.')
        ? path.posix.join(path.posix.dirname(file), name.replace(/\.js$/, '.ts'))
        : doors.get(name);
      if (found === undefined || !known.has(found)) continue;
      // An import within one folder is no circle of folders; a file that imports itself is one.
      if (nodeOf(found) !== nodeOf(file) || found === file)
        imports.get(nodeOf(file)).add(nodeOf(found));
    }
  }
  const circles = [];
  const inCircle = new Set();
  for (const node of imports.keys()) {
    const circle = inCircle.has(node) ? undefined : wayBack(node, imports);
    if (circle === undefined || circle.some((each) => inCircle.has(each))) continue;
    for (const each of circle) inCircle.add(each);
    circles.push(circle);
  }
  return circles;
}

/**
 * Returns the folder of a file for circles of folders: the first one below `src`, of features the second one. A file directly in `src` counts as
 * itself.
 */
export function folderOf(file) {
  return /^.*?\/src\/(?:features\/[^/]+(?=\/)|[^/]+)/.exec(file)?.[0] ?? file;
}

function wayBack(start, imports) {
  const cameFrom = new Map();
  for (const queue = [start]; queue.length > 0;) {
    const file = queue.shift();
    for (const next of imports.get(file)) {
      if (next === start) {
        const way = [start];
        for (let each = file; each !== start; each = cameFrom.get(each)) way.unshift(each);
        return [start, ...way];
      }
      if (cameFrom.has(next)) continue;
      cameFrom.set(next, file);
      queue.push(next);
    }
  }
  return undefined;
}

/** Maps each import name of a package of this repository to its source file. */
function doorsOfPackages(root) {
  const packages = ['libs', 'apps'].flatMap((floor) =>
    readdirSync(path.join(root, floor)).map((name) => `${floor}/${name}`),
  );
  return new Map(
    packages.flatMap((folder) => {
      const manifest = readFileSync(path.join(root, folder, 'package.json'), 'utf8');
      const { name, exports } = JSON.parse(manifest);
      return Object.entries(exports ?? {})
        .filter(([, target]) => target['@wins/source'] !== undefined)
        .map(([door, target]) => [
          path.posix.join(name, door),
          path.posix.join(folder, target['@wins/source']),
        ]);
    }),
  );
}
