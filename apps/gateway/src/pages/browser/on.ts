/** Adds an async event listener. Errors it throws are reported like any other error of the page. */
export function on<Type extends keyof HTMLElementEventMap>(
  target: HTMLElement,
  type: Type,
  act: (event: HTMLElementEventMap[Type]) => Promise<void>,
): void {
  target.addEventListener(type, (event) => {
    act(event).catch(reportError);
  });
}
