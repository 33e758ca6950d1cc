/* main.c - trainyard-view: the window (SDL2) around viz/ui.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <SDL2/SDL.h>
#include <stdio.h>

int main(void) {
    SDL_version v;
    SDL_GetVersion(&v);
    printf("trainyard-view, SDL %d.%d.%d\n", v.major, v.minor, v.patch);
    return 0;
}
