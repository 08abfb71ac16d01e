/** Listens with something that takes its time; what it throws is reported like any error of a page. */
export function on<Type extends keyof HTMLElementEventMap>(
  target: HTMLElement,
  type: Type,
  act: (event: HTMLElementEventMap[Type]) => Promise<void>,
): void {
  target.addEventListener(type, (event) => {
    act(event).catch(reportError);
  });
}
