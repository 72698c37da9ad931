/** The upgrade helper as specs and the demonstration run it: all of it, with what stands for a service manager on Linux. */
import './stand-ins.js';

export * from '../main.js';
