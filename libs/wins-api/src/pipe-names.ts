/** The pipe that serves gRPC when the configuration names none. A bare name: the transport makes an address of it. */
export const DEFAULT_PIPE_NAME = 'rancher_wins';

/** The pipe that serves the TCP tunnel when the configuration names none. A bare name as well. */
export const DEFAULT_PROXY_PIPE_NAME = 'rancher_wins_proxy';
