/** The name of the Windows service. */
export const SERVICE_NAME = 'rancher-wins';

/** The environment variable that marks every process of a run. */
export const RUN_MARKER_VARIABLE = 'RANCHER_WINS_RUN';
