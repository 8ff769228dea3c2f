// Descriptions of areas whose routes do not describe them (src/api/area.ts): their tags in the OpenAPI
// document. A test checks them for every mounted route.

export const areas: Readonly<Record<string, string>> = {
  messages: 'Sending messages and following them: statuses, deliveries, timelines',
};
