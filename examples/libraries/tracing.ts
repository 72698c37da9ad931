import { parseTraceparent } from '@wins/tracing';

const context = parseTraceparent('00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01');
console.log(context?.traceId, context?.isSampled);
