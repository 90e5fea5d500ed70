CREATE TABLE sales_2016 AS
SELECT line, place, product, quantity, amount, profit / 2 AS profit, discount FROM sales WHERE line % 4 = 1;
