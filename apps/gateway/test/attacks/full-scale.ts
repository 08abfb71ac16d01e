/** An attack is tried a few times in every run of the tests, and as often as it takes with ATTACKS=full. */
export const fullScale = process.env.ATTACKS === 'full';
export const times = (few: number, many: number): number => (fullScale ? many : few);
