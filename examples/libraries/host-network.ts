import { cloudRoutes, plan } from '@wins/host-network';

const eth0 = { id: 'eth0', name: 'eth0', metric: 0, addresses: ['192.0.2.2/24'] };
const byDefault = { destination: '0.0.0.0/0', gateway: '192.0.2.1', interface: 'eth0', metric: 0 };
const state = { interfaces: [eth0], routes: [byDefault] };

// Routes to the metadata of a cloud and to the containers of another host; a route to this host's own network is refused.
const desired = [
  ...cloudRoutes(['gce']),
  { destination: '10.42.1.0/24', gateway: '192.0.2.7', metric: 256 },
  { destination: '192.0.2.0/24', gateway: '192.0.2.7', metric: 256 },
];
const { steps, standings, record } = plan({ routes: desired }, state, []);
for (const step of steps)
  if ('route' in step) console.log(step.op, step.route.destination, 'via', step.route.gateway);
for (const { destination, state: standing, detail } of standings)
  console.log(destination, standing, `(${detail})`);

// With the routes in place, the plan has no steps. A later plan removes only recorded routes that are no longer wanted.
const made = record.flatMap((owned) => ('route' in owned ? [owned.route] : []));
const later = { ...state, routes: [byDefault, ...made] };
console.log(plan({ routes: desired }, later, record).steps.length);
for (const step of plan({ routes: [] }, later, record).steps)
  if ('route' in step) console.log(step.op, step.route.destination);
