// The long tier tries more cases.
import './windows-network.spec.js';
