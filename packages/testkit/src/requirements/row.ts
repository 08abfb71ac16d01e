/** One requirement: an id that tests cite in their titles, and the requirement in our own words. */
export type RequirementRow = readonly [id: `§${string}`, text: string];
