export async function benchBacklog(_: unknown) {}
