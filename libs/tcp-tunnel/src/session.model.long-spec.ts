// The long tier tries more schedules.
import './session.model.spec.js';
