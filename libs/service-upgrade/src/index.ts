/**
 * The upgrade of a service: what is to be done (plan), doing it (run), and what a crash leaves behind (journal).
 *
 * @packageDocumentation
 */
export {};
