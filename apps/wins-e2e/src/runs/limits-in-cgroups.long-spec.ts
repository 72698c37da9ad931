import { hasOwnLinux, runInOwnLinux } from '../testing/own-linux.js';
import { wherePossible } from '../testing/where-possible.js';
import { WINS, Workspace } from '../testing/workspace.js';

const inOwnLinux = wherePossible(
  describe,
  hasOwnLinux(),
  'limits by cgroup v2, since user-mode-linux is not installed',
);

inOwnLinux('a run limited by cgroup v2', () => {
  const workspace = new Workspace();
  afterAll(() => workspace[Symbol.dispose]());
  let said: Readonly<Record<string, string>>;

  beforeAll(async () => {
    const greedy = workspace.script('greedy', 'head -c 256M /dev/zero | tail -c 200M > /dev/null');
    const forking = workspace.script(
      'forking',
      'for i in 1 2 3 4 5 6 7 8; do sleep 600 & done; wait',
    );
    const busy = workspace.script(
      'busy',
      `i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done
cgroup="/sys/fs/cgroup$(sed -n s/^0:://p /proc/self/cgroup)"
echo "in $cgroup"
cat "$cgroup/cpu.stat"`,
    );
    const detached = { detached: { allow: true } };
    const config = workspace.config([{ path: greedy, ...detached }, forking, busy]);
    const output = await runInOwnLinux(
      workspace,
      `export WINS_RUNTIME_DIR=/run/wins
# As systemd does for a service with Delegate=yes and DelegateSubgroup=wins-daemon.
echo '+memory +cpu +pids' > /sys/fs/cgroup/cgroup.subtree_control
mkdir -p /sys/fs/cgroup/service/wins-daemon
wins() { '${process.execPath}' '${WINS}' "$@"; }
say() { echo "== $1"; shift; wins "$@"; echo "code $?"; }
daemon() {
  echo 0 > /sys/fs/cgroup/service/wins-daemon/cgroup.procs
  exec '${process.execPath}' '${WINS}' srv app run --config '${config}' 2>> /run/log
}
start() { daemon & until wins cli app info > /dev/null 2>&1; do sleep 0.1; done; }
start
say memory cli prc run --memory 64MiB --path '${greedy}'
say pids cli prc run --pids 5 --path '${forking}'
say cpus cli prc run --cpus 0.1 --path '${busy}'
say detached cli prc run --detach --name web --memory 64MiB --path '${greedy}'
say wait cli prc wait web
kill -9 $!
start
say attach cli prc attach web
say ls cli prc ls --detached
echo "== left"
ls -d /sys/fs/cgroup/service/wins-run-*`,
    );
    said = Object.fromEntries(
      output
        .split(/^== /m)
        .slice(1)
        .map((part) => {
          const [name = '', ...lines] = part.split('\n');
          return [name, lines.join('\n')];
        }),
    );
  });

  it('ends when it reaches its memory limit, and its client gets the reason', () => {
    expect(said['memory']).toMatch(/was stopped: outOfMemory .*\ncode 137\n/);
  });

  it('cannot have more processes than its limit', () => {
    expect(said['pids']).toMatch(/Cannot fork\n(?:.*\n)*code 2\n/);
  });

  it('is slowed down when it uses more processor time than its limit', () => {
    expect(said['cpus']).toMatch(/^nr_throttled [1-9]\d*\n(?:.*\n)*code 0\n/m);
  });

  it('is reported by the next daemon, when it reached its limit under an earlier one', () => {
    for (const name of ['wait', 'attach'])
      expect(said[name]).toMatch(/was stopped: outOfMemory .*\n(?:.*\n)*code 137\n/);
    expect(said['ls']).toContain('outOfMemory');
  });

  it('is in a cgroup of its own, which goes with it', () => {
    expect(said['cpus']).toMatch(/^in \/sys\/fs\/cgroup\/service\/wins-run-/m);
    expect(said['left']).toMatch(/No such file/);
  });
});
