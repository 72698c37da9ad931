import { eventsServiceDefinition } from '@wins/wins-api/contract';
import type { Feature } from '../../kernel/feature.js';
import { EventJournal } from './event-journal.js';
import { createEventsService } from './events-service.js';

export const events: Feature<object, EventJournal> = {
  name: 'events',
  stage: 'observes',
  purpose: 'keep events',
  settings: () => ({}),
  start: (_settings, kernel) => new EventJournal(kernel),
  services: (view, { resources }) => [
    {
      definition: eventsServiceDefinition,
      pipe: 'both',
      implement: (callers) =>
        createEventsService({
          journal: { page: (options) => view.require().page(options) },
          ...{ callers, followers: resources.followers },
        }),
    },
  ],
};
