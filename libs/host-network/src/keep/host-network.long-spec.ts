// The long tier tries more cases.
import './host-network.spec.js';
