# hx40_top.sdc revision 14, 2026-10-13, O. Lind
# DDR at 416 MHz, as the memory vendor wants it
create_clock -name clk_ddr -period 2.404 [get_ports DDR_CLK]
create_clock -name clk_eth -period 8.000 [get_ports ETH_RXC]
create_clock -name clk_usb -period 16.667 [get_ports USB_CLK]
create_clock -name clk_spi -period 20.000 [get_ports SPI_SCK]
set_clock_uncertainty 0.080 [all_clocks]
