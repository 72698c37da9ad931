// Runs the spec for every effect and more wishes.
import './apply-plan.spec.js';
