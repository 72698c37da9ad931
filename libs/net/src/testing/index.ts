export { LeapingClock } from './leaping-clock.js';
export {
  startProxy,
  type ProxyDouble,
  type ProxyOptions,
  type ProxyRequest,
} from './start-proxy.js';
