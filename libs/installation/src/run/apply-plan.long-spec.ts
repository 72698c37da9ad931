// Every effect, and more wishes.
import './apply-plan.spec.js';
