import { MetricRegistry, METRICS, serveMetrics } from '@wins/metrics';

const metrics = new MetricRegistry();
await using listener = await serveMetrics({
  listen: '127.0.0.1:0',
  contentType: metrics.contentType,
  scrape: () => metrics.text(),
});

// What happens is counted; what is, is asked for at each scrape.
metrics.count('wins_config_reloads_total', { result: 'applied' });
metrics.read('wins_tunnel_sessions', () => [[{}, 3]]);
// A client can send what it likes.
for (let index = 0; index < 10_000; index += 1)
  metrics.count('wins_refusals_total', { action: 'connect', rule: `rule ${index}` });

const text = await (await fetch(`http://${listener.address}/metrics`)).text();
const lines = text.split('\n');
console.log(METRICS.wins_tunnel_sessions.type);
console.log(lines.find((line) => line.startsWith('wins_tunnel_sessions ')));
console.log(lines.find((line) => line.includes('{result="applied"}')));
console.log(lines.filter((line) => line.startsWith('wins_refusals_total{')).length);
