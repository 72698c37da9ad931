// More that a config file can become.
import './config-changes.spec.js';
