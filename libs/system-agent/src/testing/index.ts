/** Doubles and contracts for those who compose the agent or implement its ports. */
export {};
