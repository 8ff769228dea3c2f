// What the areas are about whose routes do not say it themselves (src/api/area.ts): their tags in the
// OpenAPI document. A test asks it of every mounted route.

export const areas: Readonly<Record<string, string>> = {
  messages: 'Sending messages and following them: statuses, deliveries, timelines',
};
