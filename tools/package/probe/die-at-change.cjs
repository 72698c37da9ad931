// A test release runs this code first, to prove that a crash leaves a recoverable node. Commands count their changes of the node, and die by SIGKILL
// before change number DIE_AT, counted from 1, or in its middle if it has several parts. DIE_LOG receives the name of each change. The daemon is not
// affected.
if (!['srv', 'cli'].includes(process.argv[2]) && (process.env.DIE_AT || process.env.DIE_LOG)) {
  const fs = require('node:fs');
  const promises = require('node:fs/promises');
  const path = require('node:path');
  const { promisify } = require('node:util');
  const { appendFileSync, readdirSync, rmSync, writeSync } = fs;
  const { DIE_AT, DIE_LOG, WINS_NODE_ROOT } = process.env;
  const isWindows = process.platform === 'win32';
  const root = isWindows ? 'C:\\' : `${WINS_NODE_ROOT}/`;
  const isOfNode = isWindows
    ? (name) =>
        /^(etc|usr|var|programdata\\rancher-wins-|windows\\(wins\.exe|temp\\wins-))/i.test(name)
    : // Excludes the stand-ins for registry and lock, and the folders that every system has.
      (name) => !/^(run|node\.lock|\.?system\.json|\.\w{6}(\/|$)|(etc|usr|var\/lib)$)/.test(name);
  const isMeant = (file) =>
    typeof file === 'string' && file.startsWith(root) && isOfNode(file.slice(root.length));

  let count = 0;
  let last;
  const die = () => {
    process.kill(process.pid, 'SIGKILL');
    for (;;);
  };
  const at = (name, what, half) => {
    // The fatal change is in progress: changes that `half` makes do not count.
    if (count === Number(DIE_AT)) return;
    const change = `${name} ${what.startsWith(root) ? what.slice(root.length) : what}`;
    // The blocks of a large file count as one change, like a control that is repeated until the service accepts it.
    if (['write', 'ControlService'].includes(name) && change === last) return;
    last = change;
    count += 1;
    if (DIE_LOG) appendFileSync(DIE_LOG, `${change}\n`);
    if (count !== Number(DIE_AT)) return;
    half?.();
    die();
  };

  const halfOfFolder = (folder) => {
    try {
      const [first] = readdirSync(folder);
      return first && (() => rmSync(path.join(folder, first), { recursive: true }));
    } catch {
      return undefined;
    }
  };
  const change = (module, name) => {
    const real = module[name];
    module[name] = (...list) => {
      const file = list.slice(0, 2).find(isMeant);
      if (file) at(name, file);
      const half = file && name.startsWith('rm') && list[1]?.recursive && halfOfFolder(file);
      if (half) at(`half of ${name}`, file, half);
      return real.apply(module, list);
    };
  };
  for (const name of 'rename unlink rm rmdir mkdir chmod chown writeFile link symlink'.split(' ')) {
    change(promises, name);
    change(fs, `${name}Sync`);
  }

  const { O_WRONLY, O_RDWR, O_CREAT } = fs.constants;
  const isWrite = (flags) =>
    typeof flags === 'number'
      ? (flags & (O_WRONLY | O_RDWR | O_CREAT)) !== 0
      : flags !== undefined && flags !== 'r';
  const halfOfWrite = (name, fd, [bytes, , , position]) =>
    name === 'write' && Buffer.isBuffer(bytes)
      ? () => writeSync(fd, bytes, 0, Math.floor(bytes.length / 2), position)
      : undefined;
  const { open } = promises;
  promises.open = async (file, flags, ...more) => {
    if (isMeant(file) && isWrite(flags)) at('open', file);
    const handle = await open(file, flags, ...more);
    if (!isMeant(file)) return handle;
    for (const name of ['write', 'sync', 'truncate', 'chmod', 'chown']) {
      const real = handle[name];
      handle[name] = async (...list) => {
        at(name, file, halfOfWrite(name, handle.fd, list));
        return real.apply(handle, list);
      };
    }
    return handle;
  };

  // Maps open file descriptors to paths.
  const files = new Map();
  for (const name of ['open', 'write', 'fchown', 'fchmod', 'fsync', 'rename', 'unlink']) {
    const callback = fs[name];
    const real = promisify(callback);
    fs[name] = (...list) => callback.apply(fs, list);
    fs[name][promisify.custom] = async (first, ...list) => {
      const file = typeof first === 'number' ? files.get(first) : first;
      if (isMeant(file) && (name !== 'open' || isWrite(list[0])))
        at(name, file, halfOfWrite(name, first, list));
      const result = await real(first, ...list);
      if (name === 'open') files.set(result, file);
      return result;
    };
  }

  // Counts calls of Windows functions through the addon.
  const [CREATE_NEW, OPEN_ALWAYS] = [1, 4];
  const changesNothing = {
    CreateFileW: ([file, , , , how]) => !isMeant(file) || ![CREATE_NEW, OPEN_ALWAYS].includes(how),
    CreateDirectoryW: ([folder]) => !isMeant(folder),
    SetFileSecurityW: ([file]) => !isMeant(file),
  };
  const called =
    `CreateFileW CreateDirectoryW SetFileSecurityW MoveFileExW RegCreateKeyExW RegSetValueExW RegDeleteValueW RegDeleteTreeW
    CreateServiceW ChangeServiceConfigW ChangeServiceConfig2W DeleteService StartServiceW ControlService CreateProcessW
    CertAddEncodedCertificateToStore CertDeleteCertificateFromStore WinHttpSetDefaultProxyConfiguration`.split(
      /\s+/,
    );
  const { dlopen } = process;
  process.dlopen = (module, ...list) => {
    dlopen.call(process, module, ...list);
    const { load } = module.exports;
    if (!isWindows || typeof load !== 'function') return;
    const counted = (name, real) => {
      if (!called.includes(name)) return real;
      const count = (values) => {
        if (!changesNothing[name]?.(values))
          at(name, values.find((value) => typeof value === 'string') ?? '');
      };
      const call = (...values) => (count(values), real(...values));
      call.async = (...values) => (count(values), real.async(...values));
      return call;
    };
    module.exports = Object.create(module.exports, {
      load: {
        value: (...args) => {
          const library = load(...args);
          const func = (text) => counted(/(\w+)\(/.exec(text)[1], library.func(text));
          return { func };
        },
      },
    });
  };
}
