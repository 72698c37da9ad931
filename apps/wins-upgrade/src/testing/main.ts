/** The whole upgrade helper for specs and the demonstration, with stand-ins for a service manager on Linux. */
import './stand-ins.js';

export * from '../main.js';
