/** What documents speak of and nobody serves yet. It ends empty. */
export const TO_COME: readonly string[] = ['/api/poll/stream'];
