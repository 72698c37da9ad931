// Not a spec but a program, because it changes routes and needs its own network namespace. Prints the result of each check as JSON.
import { linuxHostSystem } from '@wins/linux-host';
import { hostSystemContract } from '../kernel/host-system/testing/host-system-contract.js';

async function run(): Promise<void> {
  const outcomes: Record<string, string> = {};
  for (const [name, check] of hostSystemContract({
    system: linuxHostSystem(),
    changesRoutes: true,
  })) {
    outcomes[name] = await check().then(
      () => 'passed',
      (error: unknown) => (error instanceof Error ? (error.stack ?? error.message) : String(error)),
    );
  }
  process.stdout.write(JSON.stringify(outcomes));
}

void run();
