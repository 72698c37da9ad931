// upgrade-clients.windows-spec.ts upgrades between the releases that upgrade.windows-spec.ts does.
import './upgrade.prepare.mjs';
